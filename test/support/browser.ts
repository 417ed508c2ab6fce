import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, it } from 'vitest';

/** Where Chromium is found; CHROMIUM_PATH comes first. */
const PLACES = [
  process.env.CHROMIUM_PATH ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

const executablePath = PLACES.find((path) => path !== '' && existsSync(path));

const WITHOUT = `needs Chromium: install it, or set CHROMIUM_PATH (looked in ${PLACES.filter(Boolean).join(', ')})`;

/** As quiet as a browser can be: no look-ups of its own, and no sandbox, which containers have no room for. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Opens windows of one browser that lives as long as the tests of the file. */
export function sharedBrowser(): (width: number, colorScheme?: 'light' | 'dark') => Promise<Page> {
  let browser: Promise<Browser> | undefined;
  beforeAll(() => {
    if (executablePath === undefined) process.stderr.write(`Pages were not looked at in a browser: that ${WITHOUT}.\n`);
  });
  afterAll(async () => (await browser)?.close());
  return async (width, colorScheme = 'light') => {
    browser ??= chromium.launch({ ...(executablePath !== undefined && { executablePath }), args: ARGUMENTS });
    return (await browser).newPage({ viewport: { width, height: 844 }, colorScheme });
  };
}

/** A test in a browser: without one it fails where all checks must run (CI=true), and is told as skipped elsewhere. */
export function browserTest(name: string, run: () => Promise<void>): void {
  it(name, async (context) => {
    if (executablePath === undefined) {
      if (process.env.CI === 'true') throw new Error(`This test ${WITHOUT}.`);
      context.skip(WITHOUT);
    }
    await run();
  });
}
