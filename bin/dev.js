#!/usr/bin/env node
// molar from the sources: builds what changed, then runs.
await import('./prepare.js');
if (!process.exitCode) await import('./run.js');
