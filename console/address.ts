// What the address bar says, as data and back. Pure. It stands in the fragment, so that the edge
// serves one page and a host's own paths stay its own.

export type View = 'board' | 'payments' | 'sign-in'

export interface Route {
  view: View
  /** The task or transaction that is open, or the code of a sign-in link. */
  id?: string
  /** Filters. */
  query: Readonly<Record<string, string>>
}

const VIEWS: readonly string[] = ['board', 'payments', 'sign-in'] satisfies View[]
const isView = (name: string | undefined): name is View =>
  name !== undefined && VIEWS.includes(name)

/** `#/board/LAMP-4?status=todo`; whatever is unknown is the board. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#/, '').split('?', 2)
  const [view, id] = path.split('/').filter(Boolean)
  const query = Object.fromEntries(new URLSearchParams(search))
  if (!isView(view)) return { view: 'board', query }
  return id === undefined ? { view, query } : { view, id: decode(id), query }
}

/** Leaves out what is empty, so that the same view always has the same address. */
export function formatRoute({ view, id, query }: Route): string {
  const path = id === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`
  const filters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))
  return filters.size === 0 ? path : `${path}?${filters}`
}

/** An address that somebody has typed may hold a stray percent sign. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
