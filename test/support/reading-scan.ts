// A scan that marks everything that it finds as read, as the sidecar does.

import { lstatSync } from 'node:fs'
import { type SeenStat, seen } from '../../sidecar/files/file-stat.ts'
import { FileTable } from '../../sidecar/files/file-table.ts'
import { type Scanned, type ScanReport, scan } from '../../sidecar/files/scan.ts'

export class ReadingScan {
  readonly table = new FileTable()
  readonly #store: Scanned

  constructor(store: Scanned) {
    this.#store = store
  }

  /** `now`: the time when the files are read. */
  async run(now: number): Promise<ScanReport> {
    const report = await scan(this.#store, this.table)
    for (const path of [...report.changed, ...report.suspects]) {
      const stat = lstatSync(path, { throwIfNoEntry: false })
      if (stat) this.read(path, seen(stat, now))
    }
    for (const path of report.gone) this.table.delete(path)
    return report
  }

  read(path: string, stat: SeenStat): void {
    this.table.put(path, { hash: 'read', facts: [], stat })
  }
}
