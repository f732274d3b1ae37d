// The bundles of the package. All libraries but those in EXTERNAL are inside of them, so that an
// installation has few files to resolve and runs what was tested here.

import { join } from 'node:path'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import manifest from '../../package.json' with { type: 'json' }

const ROOT = join(import.meta.dirname, '../..')
/** What picks a binary for each system, when it is installed: it stays a dependency. */
export const EXTERNAL = ['libsql'] as const

const COMMON: BuildOptions & { metafile: true } = {
  absWorkingDir: ROOT,
  bundle: true,
  format: 'esm',
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
}

/** What a bundle needs of the manifest of the repository; the rest is not published. */
const { version, cloudflare } = manifest
const essentials: Plugin = {
  name: 'essentials',
  setup: (it) =>
    it.onLoad({ filter: /[\\/]package\.json$/ }, ({ path }) =>
      path === join(ROOT, 'package.json')
        ? { contents: JSON.stringify({ version, cloudflare }), loader: 'json' }
        : undefined,
    ),
}

/** The libraries that run anywhere, a file each. Pages may serve them without a build step. */
export const ANYWHERE = ['client', 'events', 'payments'] as const

export async function bundleForAnyHost(outDir: string): Promise<Metafile[]> {
  const bundles = ANYWHERE.map((name) =>
    build({
      ...COMMON,
      entryPoints: { [name]: `libraries/${name}/index.ts` },
      outdir: outDir,
      target: 'es2022',
      // Browsers load it. The others are on servers, where an error shows their lines.
      minify: name === 'client',
      sourcemap: true,
    }),
  )
  return (await Promise.all(bundles)).map(({ metafile }) => metafile)
}

/** `worker.js`, which wrangler bundles once more, so that its stack traces should be readable. */
export async function bundleForWorkerd(outDir: string): Promise<Metafile> {
  const { metafile } = await build({
    ...COMMON,
    entryPoints: { worker: 'tools/package/worker-workerd.ts' },
    outdir: outDir,
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*', 'node:*'],
  })
  return metafile
}

/**
 * `node/`: the command line, `signalbox/worker` for drivers and configurations, `signalbox/testing`
 * for their tests. They share their chunks, because a driver's exceptions must be of the classes
 * that the command line and the tests know.
 */
export async function bundleForNode(outDir: string): Promise<Metafile> {
  const { metafile } = await build({
    ...COMMON,
    entryPoints: {
      signalbox: 'cli/bin.js',
      worker: 'tools/package/worker.ts',
      testing: 'libraries/testing/index.ts',
      'thread-libsql': 'worker/payments/ledger/libsql/thread-libsql.ts',
    },
    // One folder deep, as cli/ and system/root.ts: both find files of the package so.
    outdir: join(outDir, 'node'),
    platform: 'node',
    conditions: ['signalbox-package'],
    external: [...EXTERNAL],
    target: 'node22.22',
    splitting: true,
    chunkNames: '[name]-[hash]',
    plugins: [essentials],
    // Libraries in CommonJS ask for Node's own modules with it.
    banner: {
      js: `import { createRequire as requireFrom } from 'node:module'
const require = requireFrom(import.meta.url)`,
    },
  })
  return metafile
}
