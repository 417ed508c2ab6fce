import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { baseNameOf, baseNameProblem, type MimeType } from '../../src/catalog/resources/documentnames.ts';
import { textPdf } from '../../src/demo/files.ts';
import type { DemoRecord } from '../../src/demo/practice.ts';
import { demoRecords } from '../../src/demo/records.ts';
import { groups } from './smallpractice.ts';

const documents = [...demoRecords('small', { today: '2026-03-02' })].filter(({ type }) => type === 'DocumentV1');
const bytesOf = (document: DemoRecord) => Buffer.from((document.file as { content: string }).content, 'base64');

/** Reads a PDF as a reader does: from startxref to the table, from the table to each object. */
function objectsOf(pdf: Buffer): string[] {
  const text = pdf.toString('latin1');
  const table = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(text)?.[1]);
  const [, count] = /^xref\n0 (\d+)\n/.exec(text.slice(table)) ?? [];
  const entries = [...text.slice(table).matchAll(/^(\d{10}) \d{5} n $/gm)].map(([, offset]) => Number(offset));
  expect(entries).toHaveLength(Number(count) - 1);
  return entries.map((offset) => text.slice(offset, text.indexOf('endobj', offset)));
}

describe('demo documents', () => {
  it('have one owner each, mostly patients', () => {
    const owners = documents.map((document) => Object.keys(document).filter((name) => name.startsWith('owner')));
    expect(owners.every((names) => names.length === 1)).toBe(true);
    const counts = groups(owners.flat(), (name) => name);
    expect(counts.get('ownerPatient')!.length).toBeGreaterThan(200);
    expect(counts.get('ownerPerioExam')!.length).toBeGreaterThan(2);
    expect(counts.get('ownerOrganization')!.length).toBe(5);
  });

  it('belong to about one patient in ten', () => {
    const owners = new Set(documents.map(({ ownerPatient }) => (ownerPatient as { id: number } | undefined)?.id));
    expect(owners.size).toBeGreaterThan(140);
    expect(owners.size).toBeLessThan(260);
  });

  it('have names of their own within an owner, which the server stores as they are', () => {
    const names = documents.map(({ name, mimeType, ownerPatient, ownerPerioExam }) => {
      const base = baseNameOf(name as string, mimeType as MimeType);
      expect(baseNameProblem(base)).toBeUndefined();
      return JSON.stringify([ownerPatient ?? ownerPerioExam ?? 'organization', base.toLowerCase()]);
    });
    expect(new Set(names).size).toBe(names.length);
  });

  it('carry tags that can be searched for', () => {
    const tags = new Set(documents.flatMap((document) => document.tags as string[]));
    expect([...tags]).toEqual(expect.arrayContaining(['X-Ray', 'Consent', 'Insurance card', 'EOB']));
  });

  it('hold pictures that decode, and crops inside them', async () => {
    const pictures = documents.filter(({ mimeType }) => mimeType === 'PNG');
    expect(pictures.length).toBeGreaterThan(100);
    for (const picture of pictures) {
      const { data, info } = await sharp(bytesOf(picture)).raw().toBuffer({ resolveWithObject: true });
      expect(data.length).toBe(info.width * info.height * info.channels);
      const { fromX = 0, fromY = 0, width = 1, height = 1 } = picture.file as Record<string, number>;
      expect(fromX + width <= info.width && fromY + height <= info.height).toBe(true);
    }
    expect(pictures.some(({ file }) => (file as { ratio?: number }).ratio !== undefined)).toBe(true);
  });

  it('hold PDFs whose objects are where their table says', () => {
    const pages = documents.filter(({ mimeType }) => mimeType === 'PDF');
    expect(pages.length).toBeGreaterThan(50);
    for (const page of pages) {
      const objects = objectsOf(bytesOf(page));
      expect(objects.map((object) => object.slice(0, 7))).toEqual([
        '1 0 obj',
        '2 0 obj',
        '3 0 obj',
        '4 0 obj',
        '5 0 obj',
      ]);
      const [, length, content] = /\/Length (\d+) >>\nstream\n([\s\S]*)\nendstream/.exec(objects[3]!)!;
      expect(content).toHaveLength(Number(length));
    }
  });

  it('escape what a PDF string would misread', () => {
    const text = textPdf(['Zoë (née O’Hara) \\ 李']).toString('latin1');
    expect(text).toContain('(Zo\\353 \\(n\\351e O?Hara\\) \\\\ ?) Tj');
  });
});
