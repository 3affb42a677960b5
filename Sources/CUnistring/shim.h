#pragma once
#include <uninorm.h>
#include <unistr.h>
