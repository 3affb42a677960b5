#pragma once
#include <sys/socket.h>
#include <sys/types.h>
#include <microhttpd.h>
