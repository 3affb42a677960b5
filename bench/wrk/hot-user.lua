dofile(os.getenv("BENCH_WRK") .. "/common.lua")

local weight = os.time() % 100000 * 1000
function request()
  weight = weight + 1
  return wrk.format("PATCH", "/v1/users/me",
    { Authorization = "Bearer " .. token(1),
      ["Content-Type"] = "application/merge-patch+json" },
    string.format('{"attributes":{"weight":%d}}', weight))
end
