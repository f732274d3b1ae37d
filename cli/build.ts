// Makes the publishable package of the sidecar in dist/signalbox-sidecar: `signalbox` with the
// commands that make sense beside a board, as one bundled file. Its libraries are dependencies, in
// the exact versions that were tested here.

import { chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import manifest from '../package.json' with { type: 'json' }
import { BESIDE_BOARDS } from './beside-boards.ts'
import { main } from './program.ts'

const ROOT = join(import.meta.dirname, '..')
const OUT = join(ROOT, 'dist/signalbox-sidecar')
const EXTERNAL = ['chokidar', 'commander', 'jose', 'yaml'] as const
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
  entryPoints: [join(ROOT, 'cli/package.ts')],
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
await writeFile(join(OUT, 'README.md'), await readme())
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
    bin: { signalbox: 'cli.js' },
    files: ['cli.js', 'README.md', 'LICENSE'],
    engines: { node: NODE },
    dependencies: Object.fromEntries(EXTERNAL.map((name) => [name, dependencies[name]])),
  }
}

async function readme(): Promise<string> {
  const commands = Object.keys(BESIDE_BOARDS).map(
    async (name) => `\n## ${name}\n\n\`\`\`\n${await helpOf(name)}\`\`\`\n`,
  )
  return `# signalbox-sidecar

The command \`signalbox\` for a machine with a task board (cairn, Backlog.md or Task Master): it
publishes the board and its changes to a Signalbox edge. It needs Node ${NODE.slice(2)} or newer.
Below 22.22 npm warns about chokidar, which works there all the same.

\`\`\`
export SIGNALBOX_TOKEN=…            # from the edge's operator
npx signalbox doctor . --edge https://signalbox.example --repo my-board
npx signalbox watch . --edge https://signalbox.example --repo my-board
\`\`\`

The other commands of \`signalbox\` (start, sign-in, payments …) need a checkout of Signalbox.
${(await Promise.all(commands)).join('')}`
}

async function helpOf(name: string): Promise<string> {
  let help = ''
  const out = (text: string) => {
    help += text
  }
  const io = { out, err: out, isTerminal: false, ended: () => Promise.resolve('') }
  const load = () => Promise.reject(new Error('No help needs it.'))
  const world = { io, env: {}, loadFile: load, loadHome: load }
  await main([name, '--help'], { ...world, commands: BESIDE_BOARDS })
  return help
}
