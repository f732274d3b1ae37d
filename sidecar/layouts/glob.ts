// Patterns of paths, as a schema of OpenSpec has them: `*` and `?` stay in one folder, `**` is any
// number of folders, and none of them begins with a dot. No regular expression is made of a
// pattern: `*a*a*a*b` would try each way to divide a name, for days. No I/O.

/** Longer ones match nothing: the cost is that of the pattern for each character of a path. */
const MAX_CHARS = 200

/** Where a match may go on in a path, for each of its places: one bit each, past its end too. */
type Places = Uint8Array
/** Where a part of the pattern ends if it begins at these places. */
type Part = (from: Places, path: readonly string[]) => Places

export function globMatcher(pattern: string): (path: string) => boolean {
  const chars = [...pattern]
  const whole = chars.length > MAX_CHARS ? undefined : new Reader(chars).read()
  return (path) => {
    if (!whole) return false
    const text = [...path]
    return whole(placeAt(0, text), text)[text.length] === 1
  }
}

/** Whether it is more than one path. */
export const isGlob = (pattern: string): boolean =>
  /[*?[]/.test(pattern) || pattern.split('}').slice(0, -1).some(hasChoice)

const hasChoice = (part: string): boolean =>
  part.includes('{') && /,|\.\./.test(part.slice(part.indexOf('{')))

class Reader {
  readonly #chars: readonly string[]
  #at = 0

  constructor(chars: readonly string[]) {
    this.#chars = chars
  }

  /** Undefined: brackets that nothing closes. */
  read(): Part | undefined {
    return this.#sequence(false)
  }

  /** `isChoice`: up to a comma or the closing brace, which stay. */
  #sequence(isChoice: boolean): Part | undefined {
    const parts: Part[] = []
    for (let char = this.#chars[this.#at]; char !== undefined; char = this.#chars[this.#at]) {
      if (isChoice && (char === ',' || char === '}')) break
      this.#at += 1
      const part = this.#part(char)
      if (!part) return undefined
      parts.push(part)
    }
    return (from, path) => parts.reduce((places, part) => part(places, path), from)
  }

  #part(char: string): Part | undefined {
    switch (char) {
      case '*':
        if (this.#chars[this.#at] !== '*') return anyInFolder
        this.#at += 1
        if (this.#chars[this.#at] !== '/') return anyBelow
        this.#at += 1
        return anyFolders
      case '?':
        return oneOf((each) => each !== '/', { isShown: true })
      case '[':
        return this.#set()
      case '{':
        return this.#choice()
      default:
        return oneOf((each) => each === char)
    }
  }

  #choice(): Part | undefined {
    const choices: Part[] = []
    for (;;) {
      const choice = this.#sequence(true)
      const end = this.#chars[this.#at++]
      if (!choice || end === undefined) return undefined
      choices.push(choice)
      if (end === '}') break
    }
    return (from, path) => {
      const to = nowhere(path)
      for (const choice of choices)
        for (const [at, isHere] of choice(from, path).entries()) if (isHere) to[at] = 1
      return to
    }
  }

  /** `[a-z]`, `[!a-z]`; without a closing bracket, or empty, it is a bracket. */
  #set(): Part {
    const end = this.#chars.indexOf(']', this.#at)
    if (end <= this.#at) return oneOf((each) => each === '[')
    const isNot = '!^'.includes(this.#chars[this.#at] ?? '')
    const inside = this.#chars.slice(this.#at + (isNot ? 1 : 0), end)
    this.#at = end + 1
    const ranges: [string, string][] = []
    for (let at = 0; at < inside.length; at++) {
      const first = inside[at] ?? ''
      const isRange = inside[at + 1] === '-' && at + 2 < inside.length
      ranges.push([first, (isRange ? inside[at + 2] : first) ?? ''])
      if (isRange) at += 2
    }
    const isIn = (each: string) => ranges.some(([first, last]) => first <= each && each <= last)
    return oneOf((each) => each !== '/' && isIn(each) !== isNot, { isShown: true })
  }
}

const nowhere = (path: readonly string[]): Places => new Uint8Array(path.length + 1)

function placeAt(at: number, path: readonly string[]): Places {
  const places = nowhere(path)
  places[at] = 1
  return places
}

/** A name that begins with a dot is only meant where the pattern has that dot. */
const isHidden = (at: number, path: readonly string[]): boolean =>
  path[at] === '.' && (at === 0 || path[at - 1] === '/')

/** `isShown`: not the dot that a hidden name begins with. */
const oneOf =
  (is: (char: string) => boolean, { isShown = false } = {}): Part =>
  (from, path) => {
    const to = nowhere(path)
    for (const [at, char] of path.entries()) {
      if (from[at] && is(char) && !(isShown && isHidden(at, path))) to[at + 1] = 1
    }
    return to
  }

const anyInFolder: Part = (from, path) => {
  const to = nowhere(path)
  for (let at = 0; at <= path.length; at++) {
    const begins = from[at] === 1 && !isHidden(at, path)
    const goesOn = at > 0 && to[at - 1] === 1 && path[at - 1] !== '/'
    if (begins || goesOn) to[at] = 1
  }
  return to
}

const anyFolders: Part = (from, path) => {
  const to = nowhere(path)
  /** Within a folder that began at a place of the match. */
  let isInside = false
  for (let at = 0; at <= path.length; at++) {
    if (isInside && path[at - 1] === '/') to[at] = 1
    if (from[at]) to[at] = 1
    const begins = to[at] === 1 && path[at] !== '/' && !isHidden(at, path)
    isInside = begins || (isInside && path[at - 1] !== '/')
  }
  return to
}

/** At least a name, in any folder. */
const anyBelow: Part = (from, path) => {
  const begun = anyFolders(from, path)
  const to = nowhere(path)
  for (let at = 1; at <= path.length; at++) {
    const begins = begun[at - 1] === 1 && !isHidden(at - 1, path)
    if (path[at - 1] !== '/' && (begins || to[at - 1] === 1)) to[at] = 1
  }
  return to
}
