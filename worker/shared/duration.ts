// A time as people write it: 90s, 20m, 12h, 30d.

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** In ms. Undefined: it is none. */
export function durationMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})(s|m|h|d)$/.exec(text) ?? []
  const ms = Number(count) * (UNIT_MS[unit] ?? Number.NaN)
  return ms > 0 ? ms : undefined
}
