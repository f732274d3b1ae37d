// Times as files write them, as clients read them: RFC 3339, UTC. No clock.

const TIME = /^(\d{4}-\d\d-\d\d)[ Tt](\d\d:\d\d)(:\d\d(?:\.\d+)?)?\s*([Zz]|[+-]\d\d:\d\d)?$/

/**
 * RFC 3339 in UTC; a time without a zone is taken as UTC. A plain date and whatever is no time at
 * all stay as they are: a guess would be worse than the text.
 */
export function utcTime(text: string): string {
  const match = TIME.exec(text)
  if (!match) return text
  const [, date, minutes, seconds = ':00', zone = 'Z'] = match
  const local = `${date}T${minutes}${seconds}`
  // Kept digit for digit, not passed through Date: microseconds would be lost.
  if (zone === 'Z' || zone === 'z') return `${local}Z`
  const time = new Date(`${local}${zone}`)
  return Number.isNaN(time.getTime()) ? text : time.toISOString()
}
