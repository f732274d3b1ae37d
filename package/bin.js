#!/usr/bin/env node
// `signalbox` in the installed package.

import { refusesNode } from '../cli/node-version.js'

if (!refusesNode()) await import('./signalbox.ts')
