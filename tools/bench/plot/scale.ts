// A logarithmic axis: values to pixels, and its marks. Pure.

export interface LogScale {
  /** Values outside of the range are at its edge. */
  at(value: number): number
  readonly ticks: readonly number[]
}

/** `from` and `to` are values, both above 0; `left` and `right` pixels. */
export function logScale(from: number, to: number, left: number, right: number): LogScale {
  const span = Math.log(to / from)
  return {
    at(value) {
      const inside = Math.min(Math.max(value, from), to)
      return left + ((right - left) * Math.log(inside / from)) / span
    },
    ticks: ticksBetween(from, to),
  }
}

/** 1, 2 and 5 of every decade; only 1 if there are many decades. */
function ticksBetween(from: number, to: number): number[] {
  const first = Math.floor(Math.log10(from))
  const last = Math.ceil(Math.log10(to))
  const steps = last - first > 3 ? [1] : [1, 2, 5]
  const ticks: number[] = []
  for (let decade = first; decade <= last; decade++) {
    for (const step of steps) ticks.push(Number((step * 10 ** decade).toPrecision(1)))
  }
  return ticks.filter((tick) => tick >= from && tick <= to)
}
