"""The version of Paddle whose programming model the engine follows, as scripts print and compare it."""

VERSION = "2.6.2"
