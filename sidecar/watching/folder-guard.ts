// Tells when a watched folder appeared, vanished or was replaced. Every watcher of the platform
// goes deaf there: its handle stays on the old folder, and a folder removed and made again often
// gets the same inode number, so the time of its birth is compared too. Makes nothing on disk.

import { type FSWatcher, watch } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'

/** How often the folders are looked at when no event tells: six stats a second cost nothing. */
const LOOK_EVERY_MS = 1_000

export interface Turn {
  folder: string
  /** It is there now, as another one than before; false: it is gone. */
  present: boolean
}

/** What tells two folders of one name apart; null: no folder, or a link, which may lead away. */
async function identify(folder: string): Promise<string | null> {
  try {
    const stat = await lstat(folder, { bigint: true })
    return stat.isDirectory() ? `${stat.dev}:${stat.ino}:${stat.birthtimeNs}` : null
  } catch {
    // Whatever the reason, nothing can be watched there now; the scan says why.
    return null
  }
}

export class FolderGuard {
  readonly #root: string
  readonly #onTurn: (turns: readonly Turn[]) => void
  readonly #identities: Map<string, string | null>
  #timer: NodeJS.Timeout | undefined
  #parent: FSWatcher | undefined
  #looking: Promise<void> | undefined
  #again = false
  #closed = false

  constructor(root: string, folders: readonly string[], onTurn: (turns: readonly Turn[]) => void) {
    this.#root = root
    this.#onTurn = onTurn
    this.#identities = new Map([root, ...folders].map((folder) => [folder, null]))
  }

  /** Looks for the first time, without reporting. Returns the folders that are there. */
  async start(): Promise<string[]> {
    for (const folder of this.#identities.keys()) {
      this.#identities.set(folder, await identify(folder))
    }
    this.#watchParent()
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref()
    return this.present()
  }

  present(): string[] {
    return [...this.#identities].flatMap(([folder, identity]) => (identity ? [folder] : []))
  }

  guards(path: string): boolean {
    return this.#identities.has(path)
  }

  /** The next look reports this folder as replaced, if it is there, even if it looks the same. */
  doubt(folder: string): void {
    if (this.#identities.get(folder)) this.#identities.set(folder, 'doubted')
  }

  /** Looks now; while it looks, further calls make one more look after it. */
  look(): void {
    if (this.#closed) return
    this.#again = true
    this.#looking ??= this.#lookAll().finally(() => {
      this.#looking = undefined
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    this.#parent?.close()
    await this.#looking
  }

  async #lookAll(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false
      const turns: Turn[] = []
      for (const folder of this.#identities.keys()) {
        const identity = await identify(folder)
        if (identity === this.#identities.get(folder)) continue
        this.#identities.set(folder, identity)
        turns.push({ folder, present: identity !== null })
      }
      if (!this.#parent) this.#watchParent()
      if (turns.length > 0 && !this.#closed) this.#onTurn(turns)
    }
  }

  /** Hears of a root that comes back at once; without it the next look finds it within a second. */
  #watchParent(): void {
    if (this.#closed) return
    const parent = dirname(this.#root)
    const forget = () => {
      this.#parent?.close()
      this.#parent = undefined
    }
    try {
      this.#parent = watch(parent, { persistent: false }, (_, name) => {
        // The parent's own name is how the system says that the parent itself went away.
        if (name === basename(parent)) forget()
        if (name === null || name === basename(parent) || name === basename(this.#root)) this.look()
      }).on('error', forget)
    } catch {
      // No parent, or no watch to be had: the looks remain.
      this.#parent = undefined
    }
  }
}
