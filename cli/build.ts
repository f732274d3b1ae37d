// Makes the publishable package of the sidecar in dist/signalbox-sidecar: one bundled file, with
// the libraries it needs as dependencies in the exact versions that were tested here.

import { chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import manifest from '../package.json' with { type: 'json' }
import { helpOf } from './help.ts'
import { COMMANDS } from './signalbox.ts'

const ROOT = join(import.meta.dirname, '..')
const OUT = join(ROOT, 'dist/signalbox-sidecar')
const EXTERNAL = ['chokidar', 'jose', 'yaml'] as const
/**
 * What it was run on, with every watcher. chokidar itself asks for 22.22, so npm warns on an older
 * one; refusing there would shut out the Node that Debian and many agents' machines bring.
 */
const NODE = '>=20.20'

/** Of the repository's manifest the sidecar needs its version; the rest is nobody's business. */
const versionOnly: Plugin = {
  name: 'version-only',
  setup: (it) =>
    it.onLoad({ filter: /[\\/]package\.json$/ }, () => ({
      contents: JSON.stringify({ version: manifest.version }),
      loader: 'json',
    })),
}

await rm(OUT, { recursive: true, force: true })
await mkdir(OUT, { recursive: true })
await build({
  entryPoints: [join(ROOT, 'cli/signalbox.ts')],
  outfile: join(OUT, 'cli.js'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: [...EXTERNAL],
  plugins: [versionOnly],
  logLevel: 'warning',
})
await chmod(join(OUT, 'cli.js'), 0o755)
await writeFile(join(OUT, 'package.json'), `${JSON.stringify(packageJson(), null, 2)}\n`)
await writeFile(join(OUT, 'README.md'), readme())
await copyFile(join(ROOT, 'LICENSE'), join(OUT, 'LICENSE'))
process.stdout.write(`signalbox-sidecar ${manifest.version} is in ${OUT}\n`)

function packageJson() {
  const { version, license, dependencies } = manifest
  return {
    name: 'signalbox-sidecar',
    version,
    description: "Tells a Signalbox edge what changes in a task board's files",
    license,
    type: 'module',
    bin: { 'signalbox-sidecar': 'cli.js' },
    files: ['cli.js', 'README.md', 'LICENSE'],
    engines: { node: NODE },
    dependencies: Object.fromEntries(EXTERNAL.map((name) => [name, dependencies[name]])),
  }
}

function readme(): string {
  const commands = COMMANDS.map(
    (command) => `\n## ${command.name}\n\n\`\`\`\n${helpOf(command)}\`\`\`\n`,
  )
  return `# signalbox-sidecar

Runs beside the files of a task board (cairn, Backlog.md or Task Master) and tells a Signalbox edge
what changes there. It needs Node ${NODE.slice(2)} or newer; below 22.22 npm warns
about chokidar, which works there all the same.

\`\`\`
export SIGNALBOX_TOKEN=…            # from the edge's operator
npx signalbox-sidecar doctor . --edge https://signalbox.example --repo my-board
npx signalbox-sidecar watch . --edge https://signalbox.example --repo my-board
\`\`\`
${commands.join('')}`
}
