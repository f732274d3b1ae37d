// Routes of the page, parsed from and formatted to the URL. Pure. A route is in the fragment, so
// that the edge serves one page, and all other paths belong to the host application.

export type View = 'board' | 'payments' | 'sign-in'

export interface Route {
  view: View
  /** The open task or transaction, or the code of a sign-in link. */
  id?: string
  /** Filters. */
  query: Readonly<Record<string, string>>
}

const VIEWS: readonly string[] = ['board', 'payments', 'sign-in'] satisfies View[]
const isView = (name: string | undefined): name is View =>
  name !== undefined && VIEWS.includes(name)

/** `#/board/LAMP-4?status=todo`. An unknown view is the board. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#/, '').split('?', 2)
  const [view, id] = path.split('/').filter(Boolean)
  const query = Object.fromEntries(new URLSearchParams(search))
  if (!isView(view)) return { view: 'board', query }
  return id === undefined ? { view, query } : { view, id: decode(id), query }
}

/** What a link needs of a route. */
export type Link = Partial<Route> & { view: View }

/** Omits empty filters, so that the same view always has the same URL. */
export function formatRoute({ view, id, query = {} }: Link): string {
  const path = id === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`
  const filters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))
  return filters.size === 0 ? path : `${path}?${filters}`
}

/** A URL that was typed by hand may contain a stray percent sign. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
