#!/usr/bin/env node
// molar from the sources: builds what changed, then runs.
await import('./prepare.mjs');
if (!process.exitCode) await import('./run.js');
