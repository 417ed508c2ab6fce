import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { allOperations } from '../../src/catalog/catalog.ts';
import { officeHtml } from '../../src/core/office/html.ts';
import { COLLECTIONS } from '../core/office/samples.ts';
import { AGING, PRODUCTION } from '../core/reports/htmlsamples.ts';
import { browserTest, sharedBrowser } from '../support/browser.ts';
import { sharedService } from '../support/service.ts';

const service = sharedService();

// One for all pages: to start a browser takes longer than to look at them.
const newPage = sharedBrowser();
let origin: string;

beforeAll(async () => {
  origin = await service.app.listen({ host: '127.0.0.1', port: 0 });
});

interface Seen {
  readonly page: Page;
  readonly requests: string[];
  readonly complaints: string[];
}

/** Opens the page in a window of its own; returns what it requested and complained about. */
async function open(width: number, colorScheme: 'light' | 'dark'): Promise<Seen> {
  const page = await newPage(width, colorScheme);
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
  await page.goto(`${origin}/docs`, { waitUntil: 'load' });
  return { page, requests, complaints };
}

describe('the page of the documentation', () => {
  browserTest('requests nothing but from its own server, and complains of nothing', async () => {
    const { page, requests, complaints } = await open(1440, 'light');
    await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
    await page.close();
    expect(requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:'))).toEqual([]);
    expect(requests).toContain(`${origin}/docs`);
    expect(complaints).toEqual([]);
  });

  browserTest('has one main heading, and one for each operation', async () => {
    const { page } = await open(1440, 'light');
    const headings = (level: number) => page.getByRole('heading', { level }).allTextContents();
    const [first, chapters, operations] = [await headings(1), await headings(2), await headings(3)];
    await page.close();
    expect(first).toEqual(['Practice Management API']);
    expect(chapters).toEqual(expect.arrayContaining(['Filters', 'Paging', 'Errors', 'Patients', 'Documents']));
    expect(operations).toEqual(allOperations().map(({ operation }) => operation.summary));
  });

  for (const [width, colorScheme] of [
    [1440, 'light'],
    [1000, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const) {
    browserTest(`fits into ${width} px, everything unfolded (${colorScheme})`, async () => {
      const { page } = await open(width, colorScheme);
      await page.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true; })');
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      const styled = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      await page.close();
      expect(wide).toBeLessThanOrEqual(width);
      expect(styled).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 24, 30)');
    });
  }

  browserTest('unfolds its contents on a phone and goes where they lead', async () => {
    const { page } = await open(390, 'light');
    const link = page.getByRole('navigation').getByRole('link', { name: 'Paging' });
    expect(await link.isVisible()).toBe(false);
    await page.getByText('Contents', { exact: true }).click();
    await link.click();
    const shown = await page.evaluate('Math.round(document.getElementById("paging").getBoundingClientRect().top)');
    await page.close();
    expect(shown).toBeGreaterThanOrEqual(0);
    expect(shown).toBeLessThan(100);
  });
});

describe('the page of a report', () => {
  for (const [name, html, media, width] of [
    ['aging', AGING, 'screen', 1000],
    ['aging', AGING, 'screen', 390],
    // Letter without its margins.
    ['aging', AGING, 'print', 700],
    ['production', PRODUCTION, 'screen', 1000],
    ['production', PRODUCTION, 'screen', 390],
    ['production', PRODUCTION, 'print', 700],
    ['collections', officeHtml(COLLECTIONS), 'screen', 1000],
    ['collections', officeHtml(COLLECTIONS), 'screen', 390],
    // Landscape; a wider table is printed smaller, down to half its size.
    ['collections', officeHtml(COLLECTIONS), 'print', 1440],
  ] as const) {
    browserTest(`${name}: asks for nothing, complains of nothing and fits into ${width} px (${media})`, async () => {
      const page = await newPage(width);
      const seen: string[] = [];
      page.on('request', (request) => seen.push(request.url()));
      page.on('console', (message) => seen.push(message.text()));
      page.on('pageerror', (error) => seen.push(error.message));
      await page.emulateMedia({ media });
      await page.setContent(html, { waitUntil: 'load' });
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      const styled = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      const [bold, charts] = [await page.locator('b').count(), await page.getByRole('img').count()];
      await page.close();
      expect(seen.filter((each) => !each.startsWith('data:'))).toEqual([]);
      expect(wide).toBeLessThanOrEqual(width);
      expect(styled).toBe('rgb(255, 255, 255)');
      expect({ bold, charts }).toEqual({ bold: 0, charts: 1 });
    });
  }
});
