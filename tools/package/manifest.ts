// package.json of the package.

import manifest from '../../package.json' with { type: 'json' }
import { ANYWHERE, EXTERNAL } from './bundle.ts'

/** The source whose types an export has, by its name: `signalbox/client` and so on. */
export const TYPED: Readonly<Record<string, string>> = {
  client: 'libraries/client/index',
  events: 'libraries/events/index',
  payments: 'libraries/payments/index',
  testing: 'libraries/testing/index',
  worker: 'tools/package/worker',
}

/**
 * `repository`: the address of the repository that a publishing CI builds from. The registry
 * compares it with the provenance, so nobody else may name one.
 */
export function packageManifest(repository: string | undefined) {
  const { version, description, license, engines, dependencies } = manifest
  const types = (name: string) => ({ types: `./types/${TYPED[name]}.d.ts` })
  return {
    name: 'signalbox',
    version,
    description,
    keywords: ['server-sent events', 'webhooks', 'payments', 'task board', 'cloudflare workers'],
    license,
    ...(repository !== undefined && { repository: { type: 'git', url: repository } }),
    type: 'module',
    sideEffects: false,
    bin: { signalbox: 'node/signalbox.js' },
    exports: {
      ...Object.fromEntries(
        ANYWHERE.map((name) => [`./${name}`, { ...types(name), default: `./${name}.js` }]),
      ),
      './testing': { ...types('testing'), default: './node/testing.js' },
      './worker': { ...types('worker'), workerd: './worker.js', default: './node/worker.js' },
      './package.json': './package.json',
    },
    files: [
      ...ANYWHERE.flatMap((name) => [`${name}.js`, `${name}.js.map`]),
      'worker.js',
      'node',
      'types',
      'console',
      'docs',
      'examples',
      'migrations',
      'schema.sql',
      'LICENSES.txt',
    ],
    engines,
    dependencies: Object.fromEntries(EXTERNAL.map((name) => [name, dependencies[name]])),
    publishConfig: { access: 'public', provenance: true },
  }
}

/**
 * package.json of examples/worker: a copy of that folder, with the package beside it, can be a
 * repository of its own. A clone has none there, since its files find `signalbox/worker` by the
 * package.json above them.
 */
export function workerManifest() {
  const { devDependencies, dependencies, cloudflare } = manifest
  return {
    name: 'my-signalbox',
    private: true,
    type: 'module',
    scripts: { dev: 'wrangler dev', deploy: 'wrangler deploy' },
    // Its name is not ours on npm.
    dependencies: { signalbox: 'file:signalbox.tgz', zod: dependencies.zod },
    devDependencies: { wrangler: devDependencies.wrangler },
    cloudflare,
  }
}
