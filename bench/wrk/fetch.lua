dofile(os.getenv("BENCH_WRK") .. "/common.lua")

function request()
  return wrk.format("GET", "/v1/users/me",
    { Authorization = "Bearer " .. token(math.random(users)) })
end
