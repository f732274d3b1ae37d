// Who holds which id. Two files may claim one: the first by path keeps it, the others are listed
// beside it as `<id>~2`, `~3`. All of it follows from the claims that stand now, in whatever order
// they came, so it heals when the first goes and is the same after a restart.

import type { Key } from '../../worker/board/wire.ts'
import type { Store } from '../layouts/layout.ts'
import type { Fact } from './facts.ts'
import { compact, nameOf } from './facts.ts'

export interface Held {
  key: Key
  fact: Fact
}

const SUFFIX = /~\d+$/

export class Claims {
  readonly #store: Pick<Store, 'fold'>
  /** By name. A list only where two claim it: a list for each of 100,000 would take 6 MiB. */
  readonly #claims = new Map<string, Fact | Fact[]>()

  constructor(store: Pick<Store, 'fold'>) {
    this.#store = store
  }

  nameOf(fact: Fact): string {
    return nameOf(this.#store, fact.kind, fact.id)
  }

  /** Facts of one file must be added in the order in which they stand there. */
  add(fact: Fact): void {
    const name = this.nameOf(fact)
    const claims = this.#all(name)
    if (claims.length === 0) {
      this.#claims.set(compact(name), fact)
      return
    }
    const after = claims.findIndex((other) => other.path > fact.path)
    this.#claims.set(name, claims.toSpliced(after === -1 ? claims.length : after, 0, fact))
  }

  remove(fact: Fact): void {
    const name = this.nameOf(fact)
    const rest = this.#all(name).filter((other) => other !== fact)
    const [first] = rest
    if (first === undefined) this.#claims.delete(name)
    else this.#claims.set(name, rest.length === 1 ? first : rest)
  }

  /** Who is meant by a name. */
  holder(name: string): Fact | undefined {
    const claims = this.#claims.get(name)
    return Array.isArray(claims) ? claims[0] : claims
  }

  /** Everyone who claims a name, with the keys that they are listed under. */
  held(name: string): Held[] {
    const claims = this.#all(name)
    let n = 1
    return claims.map((fact, i) => {
      if (i === 0) return { key: `${fact.kind}:${fact.id}` as Key, fact }
      let id: string
      // An id that a file really has is never given to another one.
      do id = `${fact.id}~${++n}`
      while (this.#claims.has(nameOf(this.#store, fact.kind, id)))
      return { key: `${fact.kind}:${id}` as Key, fact }
    })
  }

  find(key: Key): Fact | undefined {
    const colon = key.indexOf(':')
    const name = nameOf(this.#store, key.slice(0, colon) as Fact['kind'], key.slice(colon + 1))
    const first = this.holder(name)
    if (first !== undefined && `${first.kind}:${first.id}` === key) return first
    return [name, ...this.alsoNamed(name)]
      .flatMap((each) => this.held(each))
      .find((held) => held.key === key)?.fact
  }

  /** The names whose keys may change when a claim on `name` comes or goes, beside it. */
  alsoNamed(name: string): string[] {
    return SUFFIX.test(name) ? [name.replace(SUFFIX, '')] : []
  }

  #all(name: string): readonly Fact[] {
    const claims = this.#claims.get(name)
    if (claims === undefined) return []
    return Array.isArray(claims) ? claims : [claims]
  }
}
