// Work with a limit of how much of it is done at the same time.

/** What it is given begins when fewer than `limit` others are under way, in order. */
export function atATime(limit: number) {
  const waiting: (() => void)[] = []
  let running = 0
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running === limit) await new Promise<void>((begin) => waiting.push(begin))
    else running++
    try {
      return await work()
    } finally {
      const begin = waiting.shift()
      if (begin) begin()
      else running--
    }
  }
}
