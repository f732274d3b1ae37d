// Which fact holds which id. Two files may claim one id, and the one that is published under it
// keeps it: else a copy that a cloud folder makes would take the place of its original, and an
// agent be sent to the copy. Of new ones, the first is the one whose name the tool would give, else
// the first by path. The others are listed beside it as `<id>~2`, `~3`. All of it follows from the
// current claims and from what was published before, in whatever order they came.
// A fact is one thing that a file says. Its name is the kind and id that its file claims, its key
// what it is published under: of a name's holder that name itself.
// A file `about` a task claims its id, too: it is part of the task that its folder has, or that
// task itself. What a linked worktree has is listed only where no other file has its id.

import { type Key, parseKey } from '../../worker/board/wire.ts'
import { compact } from '../files/compact.ts'
import { type Fact, NO_FILE, nameOf, type TaskFact } from '../files/facts.ts'
import { isAbout, type Store } from '../layouts/layout.ts'

interface Held {
  key: Key
  fact: Fact
}

const NONE: readonly Fact[] = []
const SUFFIX = /~\d+$/
/** More than the rank of any file. */
const OUTSIDE = 1_000

export type HeldStore = Pick<Store, 'fold' | 'classify' | 'whyIgnored' | 'roleOf' | 'isGuess'>

const inNoFile = ({ path }: Fact): number => Number(path === NO_FILE)

const copy = (fact: Fact): number => {
  const isCopy =
    fact.kind === 'session' ? fact.isElsewhere : fact.kind === 'task' && fact.isMisnamed
  return Number(isCopy ?? false)
}

/** The tool lists the one that it has not put where the closed ones are. */
const putAway = (fact: Fact): number => Number(fact.kind === 'task' && fact.standing === 'closed')

/** The tool uses one of them, by where it is and not by its age. */
const isOfConfiguration = ({ kind }: Fact): boolean => kind === 'board' || kind === 'setting'

export class IdHolders {
  readonly #store: HeldStore
  /** By name. A list only where two claim it: a list for each of 100,000 would take 6 MiB. */
  readonly #claims = new Map<string, Fact | Fact[]>()
  /**
   * The keys under one name, for as long as no claim changes: a file in which one id stands a
   * thousand times asks for each of them in turn, and froze everything for minutes without it.
   */
  #listed: { name: string; held: Held[]; facts: Map<Key, Fact> } | undefined

  readonly #unordered = new Set<string>()
  /** What was published of each name whose claims changed since, its holder first. */
  readonly #published = new Map<string, readonly Fact[]>()
  /** False: nothing ever was. Nothing is kept then: a first read would keep each of its tasks. */
  #hasPublished: boolean = false
  #prefix: string | undefined

  constructor(store: HeldStore) {
    this.#store = store
  }

  nameOf(fact: Fact): string {
    return nameOf(this.#store, fact.kind, fact.id)
  }

  /** Facts of one file must be added in the order of that file. */
  add(fact: Fact): void {
    const name = this.nameOf(fact)
    this.#beforeChange(name)
    this.#put(name, fact, false)
  }

  /** Adds what was known when an earlier run ended, and whether it was published under its id. */
  restore(fact: Fact, wasHolder: boolean): void {
    const name = this.nameOf(fact)
    if (wasHolder) {
      this.#hasPublished = true
      this.#published.delete(name)
    } else if (!this.#claims.has(name)) this.#published.set(name, NONE)
    this.#put(name, fact, wasHolder)
  }

  /** From here on, the holder of an id keeps it. */
  publish(): void {
    for (const name of this.#unordered) this.#get(name)
    this.#published.clear()
    this.#hasPublished = true
  }

  /** Whether it was published under its own id. */
  isPublished(fact: Fact): boolean {
    const name = this.nameOf(fact)
    if (!this.#hasPublished || this.holder(name) !== fact) return false
    return this.#published.get(name)?.length !== 0
  }

  remove(fact: Fact): void {
    const name = this.nameOf(fact)
    this.#beforeChange(name)
    this.#listed = undefined
    const claims = this.#claims.get(name)
    if (claims === fact) this.#claims.delete(name)
    if (!Array.isArray(claims)) return
    const at = claims.indexOf(fact)
    if (at >= 0) claims.splice(at, 1)
    const [first, second] = claims
    if (first !== undefined && second === undefined) this.#claims.set(name, first)
    else this.#unordered.add(name)
  }

  /** The configuration's, by which the tool recognizes its files. */
  usePrefix(prefix: string | undefined): void {
    if (prefix === this.#prefix) return
    this.#prefix = prefix
    this.#listed = undefined
    for (const [name, claims] of this.#claims) {
      if (Array.isArray(claims)) this.#unordered.add(name)
    }
  }

  whyIgnored(fact: Fact): string | undefined {
    if (fact.kind !== 'task') return undefined
    return this.#store.whyIgnored?.(fact.path, this.#prefix)
  }

  /** Whether several files of the board claim a name: then it is unknown which one is meant. */
  isShared(name: string): boolean {
    const claims = this.#get(name)
    const [first] = Array.isArray(claims) ? claims : []
    if (!Array.isArray(claims) || first === undefined) return false
    return claims.some((other) => other.path !== first.path && this.#rankOf(other) === 0)
  }

  /** All facts that claim a name. */
  claims(name: string): readonly Fact[] {
    return [this.#get(name) ?? []].flat()
  }

  /** The fact that is meant by a name. */
  holder(name: string): Fact | undefined {
    const claims = this.#get(name)
    return Array.isArray(claims) ? claims[0] : claims
  }

  /** The file beside it that is about this task. */
  about(fact: TaskFact): TaskFact | undefined {
    const claims = this.#get(this.nameOf(fact))
    if (!Array.isArray(claims) || this.isAbout(fact)) return undefined
    const found = claims.find((other) => this.isAbout(other) && this.areBeside(other, fact))
    return found?.kind === 'task' ? found : undefined
  }

  /** Whether it is listed as a task, and not just as part of another one. */
  isListed(fact: Fact): boolean {
    const claims = this.#get(this.nameOf(fact))
    if (!Array.isArray(claims)) return claims === fact
    return claims.includes(fact) && this.#isOwn(fact, claims)
  }

  countTasks(facts: Iterable<Fact>): number {
    let count = 0
    for (const fact of facts) if (fact.kind === 'task' && this.isListed(fact)) count++
    return count
  }

  isAbout({ path, id }: Fact): boolean {
    return isAbout(this.#store, path, id)
  }

  /** Whether two files are about the same task, if both claim its id. */
  areBeside(one: Fact, other: Fact): boolean {
    return this.#roleOf(one).folder === this.#roleOf(other).folder
  }

  #roleOf({ path }: Fact): { folder: string; rank: number } {
    return this.#store.roleOf?.(path) ?? { folder: folderOf(path), rank: 0 }
  }

  /** All facts that claim a name, with the keys that they are listed under. */
  held(name: string): readonly Held[] {
    return this.#list(name).held
  }

  find(key: Key): Fact | undefined {
    const { kind, id } = parseKey(key)
    const name = nameOf(this.#store, kind, id)
    const first = this.holder(name)
    if (first !== undefined && `${first.kind}:${first.id}` === key) return first
    for (const each of [...this.alsoNamed(name), name]) {
      const fact = this.#list(each).facts.get(key)
      if (fact !== undefined) return fact
    }
    return undefined
  }

  /** The names whose keys may change when a claim on `name` comes or goes, beside it. */
  alsoNamed(name: string): string[] {
    return SUFFIX.test(name) ? [name.replace(SUFFIX, '')] : []
  }

  #beforeChange(name: string): void {
    if (!this.#hasPublished || this.#published.has(name)) return
    const claims = this.#get(name)
    this.#published.set(name, claims === undefined ? NONE : [claims].flat())
  }

  #put(name: string, fact: Fact, isFirst: boolean): void {
    this.#listed = undefined
    const known = this.#claims.get(name)
    if (known === undefined) {
      this.#claims.set(compact(name), fact)
      return
    }
    const claims = Array.isArray(known) ? known : [known]
    if (isFirst) claims.unshift(fact)
    else claims.push(fact)
    this.#claims.set(name, claims)
    this.#unordered.add(name)
  }

  /** All facts that claim a name, in order. */
  #get(name: string): Fact | Fact[] | undefined {
    const claims = this.#claims.get(name)
    if (this.#unordered.delete(name) && Array.isArray(claims)) this.#order(name, claims)
    return this.#store.isGuess && claims ? this.#confirmed(claims) : claims
  }

  /** Without guesses that no file beside them confirms. */
  #confirmed(claims: Fact | Fact[]): Fact | Fact[] | undefined {
    const isGuess = ({ path }: Fact) => this.#store.isGuess?.(path) === true
    const all = [claims].flat()
    const sure = all.filter((fact) => !isGuess(fact))
    if (sure.length === all.length) return claims
    const found = all.filter(
      (fact) => !isGuess(fact) || sure.some((other) => this.areBeside(other, fact)),
    )
    return found.length > 1 ? found : found[0]
  }

  #order(name: string, claims: Fact[]): void {
    const published = this.#published.get(name) ?? (this.#hasPublished ? [...claims] : NONE)
    claims.sort((one, other) => this.#compare(one, other))
    const [first] = claims
    if (first === undefined || published.length === 0) return
    if (this.isAbout(first) || isOfConfiguration(first)) return
    const equals = claims.filter((other) => this.#compareRank(first, other) === 0)
    const next = nextHolder(published, equals)
    if (next === undefined || next === first) return
    claims.splice(claims.indexOf(next), 1)
    claims.unshift(next)
  }

  #list(name: string) {
    if (this.#listed?.name === name) return this.#listed
    const claims = this.#get(name)
    const held: Held[] = []
    let n = 1
    for (const fact of Array.isArray(claims) ? claims : claims ? [claims] : []) {
      if (Array.isArray(claims) && !this.#isOwn(fact, claims)) continue
      let { id } = fact
      // An id that a file really has is never given to another one.
      if (held.length > 0) {
        do id = `${fact.id}~${++n}`
        while (this.#claims.has(nameOf(this.#store, fact.kind, id)))
      }
      held.push({ key: `${fact.kind}:${id}` as Key, fact })
    }
    const facts = new Map(held.map(({ key, fact }) => [key, fact]))
    // One claim is quickly listed again. A list of many must not be made again.
    if (held.length > 1) this.#listed = { name, held, facts }
    return { name, held, facts }
  }

  /** False: an earlier claim of its folder is the task that it is about. */
  #isOwn(fact: Fact, claims: readonly Fact[]): boolean {
    if (fact.tree !== undefined) return claims[0] === fact
    if (!this.isAbout(fact)) return true
    return !claims.slice(0, claims.indexOf(fact)).some((other) => this.areBeside(other, fact))
  }

  #compare(one: Fact, other: Fact): number {
    // The entries of one file stay in its order.
    if (one.path === other.path) return 0
    const difference = this.#compareRank(one, other) || copy(one) - copy(other)
    return difference || (one.path < other.path ? -1 : 1)
  }

  #compareRank(one: Fact, other: Fact): number {
    const difference = inNoFile(one) - inNoFile(other) || this.#rankOf(one) - this.#rankOf(other)
    return difference || putAway(one) - putAway(other)
  }

  /** A draft, an archived task or an ignored file never takes an id from one of the board. */
  #rankOf(fact: Fact): number {
    const isOutside = fact.kind === 'task' && fact.standing === 'outside'
    const isIgnored = this.whyIgnored(fact) !== undefined
    const about = this.isAbout(fact) ? 1 + this.#roleOf(fact).rank : 0
    const isInTree = fact.tree !== undefined
    return (4 * Number(isInTree) + 2 * Number(isIgnored) + Number(isOutside)) * OUTSIDE + about
  }
}

/**
 * Which fact holds an id from here on: the one that was published under it, changed or not. If that
 * is gone, one that has come since: a task with a new title is in a file of another name.
 * Undefined: there is none.
 */
function nextHolder(
  [holder, ...others]: readonly Fact[],
  claims: readonly Fact[],
): Fact | undefined {
  if (holder === undefined) return undefined
  // In a file with many tasks, the others differ from the holder by their bytes.
  const signOf = ({ path, hash }: Fact) => (path === holder.path ? `${path}\n${hash}` : path)
  const known = new Set(others.map(signOf))
  let next: Fact | undefined
  let least = Number.POSITIVE_INFINITY
  for (const fact of claims) {
    const difference = 2 * Number(fact.path !== holder.path) + Number(fact.hash !== holder.hash)
    if (difference >= least || (difference > 0 && known.has(signOf(fact)))) continue
    next = fact
    least = difference
  }
  return next
}

const folderOf = (path: string): string => path.replace(/[/\\][^/\\]*$/, '')
