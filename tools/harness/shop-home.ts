// A copy of the product in a folder, with the signalbox.config.ts of a shop.

import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export interface ShopHome {
  /** The text of signalbox.config.ts. */
  config: string
  /** More files that it or the entry needs, with paths from the product's root. */
  files?: readonly string[]
  /** Another entry of the Worker on workerd. */
  main?: string
}

/** Makes the folder, and returns its path, from which an edge can be started. */
export async function shopHome(home: string, shop: ShopHome): Promise<string> {
  const from = (name: string) => join(process.cwd(), name)
  const libraries = ['api/board-answers.ts', 'api/openapi.json', 'client', 'mcp'].map(
    (name) => `libraries/${name}`,
  )
  const product = ['worker', ...libraries, 'deno.json', 'package.json']
  for (const name of [...product, ...(shop.files ?? [])]) {
    await mkdir(dirname(join(home, name)), { recursive: true })
    await cp(from(name), join(home, name), { recursive: true })
  }
  await symlink(from('node_modules'), join(home, 'node_modules'))
  await writeFile(join(home, 'signalbox.config.ts'), shop.config)
  const toml = await readFile(from('wrangler.toml'), 'utf8')
  const { main } = shop
  const own = main === undefined ? toml : toml.replace(/^main = .*$/m, `main = "${main}"`)
  await writeFile(join(home, 'wrangler.toml'), own)
  return home
}
