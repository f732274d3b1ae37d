// The product in a folder of its own, in which one file is a shop's: signalbox.config.ts.

import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export interface ShopHome {
  /** The text of signalbox.config.ts. */
  config: string
  /** Further files that it or the entry needs, from the product's root. */
  files?: readonly string[]
  /** Another entry of the Worker on workerd. */
  main?: string
}

/** Makes the folder, and answers it: an edge can be prepared from there. */
export async function shopHome(home: string, shop: ShopHome): Promise<string> {
  const from = (name: string) => join(process.cwd(), name)
  for (const name of ['worker', 'deno.json', 'package.json', ...(shop.files ?? [])]) {
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
