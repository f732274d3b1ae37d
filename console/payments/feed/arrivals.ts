// Which of the rows that differ are worth a flash: not those that were merely loaded later. Pure.

/**
 * `changed` are ids that are new or differ, `before` what was shown. Ids rise with time: one that
 * is new and older than what was shown has only now been asked for.
 */
export function arrivals(before: ReadonlyMap<string, unknown>, changed: readonly string[]) {
  const newest = [...before.keys()].reduce((most, id) => (id > most ? id : most), '')
  return changed.filter((id) => before.has(id) || id > newest)
}
