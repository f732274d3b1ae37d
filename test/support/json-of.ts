/** The body of an answer with this status, or else with any that is good; fails with what it says. */
export async function jsonOf<T>(answer: Response, status?: number): Promise<T> {
  const isGood = status === undefined ? answer.ok : answer.status === status
  if (!isGood) throw new Error(`${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}
