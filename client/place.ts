// Places in a repository's change log: event ids, `<epoch>-<seq>`. Pure.

/** Whether `id` lies behind `place`. Of two epochs nobody can tell: then it does. */
export function isBehind(id: string, place: string | undefined): boolean {
  const at = splitId(id)
  const from = splitId(place ?? '')
  return at.epoch !== from.epoch || !(at.seq <= from.seq)
}

function splitId(id: string): { epoch: string; seq: number } {
  const dash = id.lastIndexOf('-')
  return { epoch: id.slice(0, Math.max(0, dash)), seq: Number(id.slice(dash + 1)) }
}
