#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const entry = new URL('../dist/cli/main.js', import.meta.url);

if (existsSync(entry)) {
  const { main } = await import(entry);
  await main(process.argv.slice(2), root);
} else {
  process.stderr.write(
    'Error: molar has not been built yet.\nNext: Run npm install and npm run build here, or npm start.\n',
  );
  process.exitCode = 1;
}
