// Apart from http.ts: tests in workerd use it, which has no sockets of Node.

/**
 * The body of a response with this status (default: any 2xx). Fails with the text of the response.
 */
export async function jsonOf<T>(answer: Response, status?: number): Promise<T> {
  const isGood = status === undefined ? answer.ok : answer.status === status
  if (!isGood) throw new Error(`${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}
