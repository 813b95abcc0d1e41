module example.com/queue

go 1.26.0

require qsim v0.0.0

replace qsim => ../../..
