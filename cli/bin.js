#!/usr/bin/env node
// `signalbox` in a checkout.

import { refusesNode } from './node-version.js'

if (!refusesNode()) await import('./signalbox.ts')
