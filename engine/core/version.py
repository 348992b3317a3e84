"""The version of Paddle whose programming model the engine follows: what scripts print and compare."""

VERSION = "2.6.2"
