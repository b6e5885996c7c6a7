"""Answers: what a solve returns, and how it reads as text, as HTML and as a picture."""
