// Who holds which id. Two files may claim one: the one whose name the tool would give keeps it, or a
// copy that a cloud folder makes would take the place of its original; else the first by path. The
// others are listed beside it as `<id>~2`, `~3`. All of it follows from the current claims, in
// whatever order they came. So it is corrected when the first is removed, and the same after a
// restart.
// A file `about` a task claims its id, too: it is part of the task that its folder has, or that
// task itself.

import { dirname } from 'node:path'
import { type Key, parseKey } from '../../worker/board/wire.ts'
import { compact, type Fact, nameOf, type TaskFact } from '../files/facts.ts'
import type { Store } from '../layouts/layout.ts'

interface Held {
  key: Key
  fact: Fact
}

const SUFFIX = /~\d+$/
/** More than the rank of any file. */
const OUTSIDE = 1_000

type ClaimedStore = Pick<Store, 'fold' | 'classify' | 'whyIgnored' | 'placeOf'>

/** It stands in for a file. */
const inNoFile = ({ path }: Fact): number => Number(path === '')

const copy = (fact: Fact): number => Number(fact.kind === 'task' && fact.isMisnamed)

export class Claims {
  readonly #store: ClaimedStore
  /** By name. A list only where two claim it: a list for each of 100,000 would take 6 MiB. */
  readonly #claims = new Map<string, Fact | Fact[]>()
  /**
   * The keys under one name, for as long as no claim changes: a file in which one id stands a
   * thousand times asks for each of them in turn, and froze everything for minutes without it.
   */
  #listed: { name: string; held: Held[]; facts: Map<Key, Fact> } | undefined

  #prefix: string | undefined

  constructor(store: ClaimedStore) {
    this.#store = store
  }

  nameOf(fact: Fact): string {
    return nameOf(this.#store, fact.kind, fact.id)
  }

  /** Facts of one file must be added in the order of that file. */
  add(fact: Fact): void {
    this.#listed = undefined
    const name = this.nameOf(fact)
    const known = this.#claims.get(name)
    if (known === undefined) {
      this.#claims.set(compact(name), fact)
      return
    }
    const claims = Array.isArray(known) ? known : [known]
    // Searched from the end, where each of the many of one file belongs.
    const before = claims.findLastIndex((other) => this.#compare(fact, other) >= 0)
    claims.splice(before + 1, 0, fact)
    this.#claims.set(name, claims)
  }

  remove(fact: Fact): void {
    this.#listed = undefined
    const name = this.nameOf(fact)
    const claims = this.#claims.get(name)
    if (claims === fact) this.#claims.delete(name)
    if (!Array.isArray(claims)) return
    const at = claims.indexOf(fact)
    if (at >= 0) claims.splice(at, 1)
    const [first, second] = claims
    if (first !== undefined && second === undefined) this.#claims.set(name, first)
  }

  /** The configuration's, by which the tool tells its files. */
  usePrefix(prefix: string | undefined): void {
    if (prefix === this.#prefix) return
    this.#prefix = prefix
    this.#listed = undefined
    for (const claims of this.#claims.values()) {
      if (Array.isArray(claims)) claims.sort((one, other) => this.#compare(one, other))
    }
  }

  whyIgnored(fact: Fact): string | undefined {
    if (fact.kind !== 'task') return undefined
    return this.#store.whyIgnored?.(fact.path, this.#prefix)
  }

  /** Whether several files of the board claim a name: then nobody knows which of them is meant. */
  isShared(name: string): boolean {
    const claims = this.#claims.get(name)
    const [first] = Array.isArray(claims) ? claims : []
    if (!Array.isArray(claims) || first === undefined) return false
    return claims.some((other) => other.path !== first.path && this.#rankOf(other) === 0)
  }

  /** Who is meant by a name. */
  holder(name: string): Fact | undefined {
    const claims = this.#claims.get(name)
    return Array.isArray(claims) ? claims[0] : claims
  }

  /** The file beside it that is about this task. */
  about(fact: TaskFact): TaskFact | undefined {
    const claims = this.#claims.get(this.nameOf(fact))
    if (!Array.isArray(claims) || this.isAbout(fact)) return undefined
    const found = claims.find((other) => this.isAbout(other) && this.areBeside(other, fact))
    return found?.kind === 'task' ? found : undefined
  }

  /** Whether it is listed as a task, and not just as part of another one. */
  isListed(fact: Fact): boolean {
    const claims = this.#claims.get(this.nameOf(fact))
    return !Array.isArray(claims) || this.#isOwn(fact, claims)
  }

  isAbout({ path, id }: Fact): boolean {
    return this.#store.classify(path) === 'about' || this.#store.placeOf?.(path).about === id
  }

  /** Whether two files are about the same task, if both claim its id. */
  areBeside(one: Fact, other: Fact): boolean {
    return this.#placeOf(one).folder === this.#placeOf(other).folder
  }

  #placeOf({ path }: Fact): { folder: string; rank: number } {
    return this.#store.placeOf?.(path) ?? { folder: dirname(path), rank: 0 }
  }

  /** Everyone who claims a name, with the keys that they are listed under. */
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

  #list(name: string) {
    if (this.#listed?.name === name) return this.#listed
    const claims = this.#claims.get(name)
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
    if (!this.isAbout(fact)) return true
    return !claims.slice(0, claims.indexOf(fact)).some((other) => this.areBeside(other, fact))
  }

  #compare(one: Fact, other: Fact): number {
    // The entries of one file stay in its order.
    if (one.path === other.path) return 0
    const difference =
      inNoFile(one) - inNoFile(other) ||
      this.#rankOf(one) - this.#rankOf(other) ||
      copy(one) - copy(other)
    return difference || (one.path < other.path ? -1 : 1)
  }

  /** A draft, an archived task or an ignored file never takes an id from one of the board. */
  #rankOf(fact: Fact): number {
    const isOutside = fact.kind === 'task' && fact.standing === 'outside'
    const isIgnored = this.whyIgnored(fact) !== undefined
    const about = this.isAbout(fact) ? 1 + this.#placeOf(fact).rank : 0
    return (2 * Number(isIgnored) + Number(isOutside)) * OUTSIDE + about
  }
}
