// Bundles the console's page: index.html, scripts and styles, with a hash of the content in each
// name.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { build, type Metafile } from 'esbuild'

const PAGE = import.meta.dirname
const inPage = (file: string) => join(PAGE, file)
/** `npx wrangler deploy` takes the page from here. */
const DIST = join(import.meta.dirname, '../dist/console')

/**
 * Empties `outDir`, then writes `index.html` and the scripts and styles, which it loads from
 * `/console/`. Answers what it bundled. Rejects with esbuild's BuildFailure.
 */
export async function buildConsole(outDir: string): Promise<Metafile> {
  await rm(outDir, { recursive: true, force: true })
  await mkdir(outDir, { recursive: true })
  const { metafile, outputFiles } = await build({
    entryPoints: ['main.tsx', 'board/detail/markdown-worker.ts', 'icon.svg'].map(inPage),
    loader: { '.svg': 'copy' },
    outdir: outDir,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    // Markdown is loaded only by the view that needs it.
    splitting: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    metafile: true,
    // Written here, an error of the disk is one that has its code.
    write: false,
    logLevel: 'silent',
  })
  for (const { path, contents } of outputFiles) await writeFile(path, contents)
  const html = await readFile(join(PAGE, 'index.html'), 'utf8')
  await writeFile(join(outDir, 'index.html'), fillIn(html, metafile))
  return metafile
}

/** `index.html` names its files without the hash. */
function fillIn(html: string, { outputs }: Metafile): string {
  return Object.keys(outputs).reduce((page, output) => {
    const file = basename(output)
    return page.replaceAll(`/console/${file.replace(/-[A-Z0-9]{8}(?=\.)/, '')}`, `/console/${file}`)
  }, html)
}

if (import.meta.main) {
  await buildConsole(DIST)
  process.stdout.write(`the console is in ${DIST}\n`)
}
