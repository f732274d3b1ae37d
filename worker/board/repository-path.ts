// What a repository may be called. Pure; the local system asks it too, before the edge does.

const MOST_BYTES = 512

/** Why this is no path of a repository, in one sentence; undefined: it is one. */
export function pathProblem(path: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (path === '' || /[\u0000-\u001f\u007f-\u009f]/.test(path)) {
    return 'The path is empty or holds control characters.'
  }
  if (new TextEncoder().encode(path).length > MOST_BYTES) {
    return `The path is longer than ${MOST_BYTES} bytes.`
  }
  // In a token's repos a final * makes a prefix: no grant could ever name this repository alone.
  if (path.endsWith('*')) return 'The path ends in *.'
  return undefined
}
