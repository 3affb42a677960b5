dofile(os.getenv("BENCH_WRK") .. "/common.lua")

function request()
  return wrk.format("GET", "/v1/users/me/history?limit=100",
    { Authorization = "Bearer " .. token(1) })
end
