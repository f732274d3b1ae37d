// The declarations of the package's exports.

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../..')

/** Writes a `.d.ts` to `outDir` for each file that the types of `entries` refer to. */
export async function writeTypes(entries: readonly string[], outDir: string): Promise<void> {
  const allDir = await mkdtemp(join(tmpdir(), 'signalbox-types-'))
  const settings = {
    extends: join(ROOT, 'console/tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      // For what the repository's own tests use, too.
      stripInternal: true,
      typeRoots: [join(ROOT, 'node_modules/@types')],
      types: ['node'],
      rootDir: ROOT,
      outDir: allDir,
    },
    include: [],
    files: entries.map((name) => join(ROOT, `${name}.ts`)),
  }
  const settingsFile = join(allDir, 'tsconfig.json')
  await writeFile(settingsFile, JSON.stringify(settings))
  await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', settingsFile])
  const known = new Map<string, string>()
  for (const name of entries) await withImports(allDir, name, known)
  for (const [name, text] of known) {
    const file = join(outDir, `${name}.d.ts`)
    await mkdir(dirname(file), { recursive: true })
    // Every kind of module resolution understands `.js`.
    await writeFile(file, text.replaceAll(/(from '\..*)\.ts'/g, "$1.js'"))
  }
  await rm(allDir, { recursive: true })
}

/** Adds a declaration and everything that it imports: name → text. */
async function withImports(dir: string, name: string, known: Map<string, string>): Promise<void> {
  const text = withoutSchemas(name, await readFile(join(dir, `${name}.d.ts`), 'utf8'))
  known.set(name, text)
  for (const [, imported = ''] of text.matchAll(/from '(\..*)\.ts'/g)) {
    const next = join(dirname(name), imported)
    if (!known.has(next)) await withImports(dir, next, known)
  }
}

/** Where a statement begins, with its comment. */
const STATEMENT = /^(?=\/\*\*|(?<!\*\/\n)(?:import|export|interface|declare) )/m

/**
 * Without schemas, which are not public: with zod's types everybody would have to install zod.
 * Public types that have a schema come from libraries/api/types.ts. Throws where one does not.
 */
function withoutSchemas(name: string, text: string): string {
  if (!/from 'zod'/.test(text)) return text
  const isSchema = /^export declare const |^import .*('zod'|Schema\b)/m
  const plain = text
    .split(STATEMENT)
    .filter((statement) => !isSchema.test(statement))
    .join('')
  if (/\bz\.|Schema\b/.test(plain)) throw new Error(`${name} needs zod's types.`)
  return plain
}
