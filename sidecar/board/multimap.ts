// A map from one key to several values. A key with one value, which is nearly every key of a board,
// holds the value itself and no set: at 100,000 keys the sets alone would take 20 MiB.

export class Multimap<V extends object> {
  readonly #map = new Map<string, V | Set<V>>()

  add(key: string, value: V): void {
    const held = this.#map.get(key)
    if (held === undefined) this.#map.set(key, value)
    else if (held instanceof Set) held.add(value)
    else if (held !== value) this.#map.set(key, new Set([held, value]))
  }

  remove(key: string, value: V): void {
    const held = this.#map.get(key)
    if (held === value) this.#map.delete(key)
    else if (held instanceof Set && held.delete(value) && held.size === 0) this.#map.delete(key)
  }

  of(key: string): Iterable<V> {
    const held = this.#map.get(key)
    if (held === undefined) return []
    return held instanceof Set ? held : [held]
  }
}
