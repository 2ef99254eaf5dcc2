"""The lab's measuring side: tournaments, ratings, speed, and the page that shows them."""
