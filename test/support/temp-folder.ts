// Folders of a test file, which are removed after it.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const made: string[] = []

/** A new and empty one, by its real path. */
export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-test-')))
  made.push(folder)
  return folder
}

/** By their paths in the folder. */
type Files = Record<string, string | Uint8Array>

/** A new one with these files. */
export function makeFolder(files: Files = {}): string {
  const dir = tempFolder()
  writeFiles(dir, files)
  return dir
}

export function writeFiles(dir: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
}

export function removeTempFolders(): void {
  for (const folder of made.splice(0)) {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
