// The page's entry: puts the app into the document, and asks who is signed in.

import './style/style.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { findSession, signOutWithOtherTabs } from './data/session.ts'
import { route } from './router.ts'
import { direction, locale } from './words.ts'

document.documentElement.lang = locale
document.documentElement.dir = direction
render(<App />, document.body)
signOutWithOtherTabs()
// A link signs in by itself, and asks only where that fails.
if (route.value.view !== 'sign-in') void findSession()
