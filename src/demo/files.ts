import { crc32, deflateSync } from 'node:zlib';
import type { Random } from './random.ts';

/** A one-page PDF with lines of text in Helvetica; letters outside Latin-1 are shown as `?`. */
export function textPdf(lines: readonly string[]): Buffer {
  const shown = lines.map((line, index) => `${index === 0 ? '' : '0 -20 Td '}(${literal(line)}) Tj`).join('\n');
  const content = `BT /F1 12 Tf 72 720 Td\n${shown}\nET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const count = objects.length + 1;
  const tail = `trailer\n<< /Size ${count} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(`${text}xref\n0 ${count}\n0000000000 65535 f \n${table}${tail}`, 'latin1');
}

/** Text for a PDF string: ASCII as it is, other Latin-1 letters as octal escapes. */
function literal(line: string): string {
  let escaped = '';
  for (const letter of line.normalize('NFC')) {
    const code = letter.codePointAt(0) ?? 0;
    if ('()\\'.includes(letter)) escaped += `\\${letter}`;
    else if (code >= 32 && code < 127) escaped += letter;
    else if (code >= 160 && code < 256) escaped += `\\${code.toString(8)}`;
    else escaped += '?';
  }
  return escaped;
}

/** A picture that looks a little like an X-ray: two rows of bright teeth on a dark ground. */
export function radiograph([width, height]: readonly [number, number], random: Random): Buffer {
  const tooth = random.between(9, 15);
  const shift = random.below(tooth);
  const gum = Math.floor(height / 2);
  const glow = random.between(150, 210);
  return grayPng(width, height, (x, y) => {
    const across = Math.abs(((x + shift) % tooth) - tooth / 2) / (tooth / 2);
    const away = Math.abs(y - gum);
    const inTooth = across < 0.8 && away > 2 && away < height * 0.4 - across * 4;
    return inTooth ? glow + ((x * 7 + y * 13) % 40) : 24 + ((x * 3 + y * 5) % 30);
  });
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** An 8-bit grayscale PNG; `shade` gives 0 to 255 for each pixel. */
function grayPng(width: number, height: number, shade: (x: number, y: number) => number): Buffer {
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = shade(x, y);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  // Level 0 stores: compressed bytes differ between builds of zlib, and the practice is the same everywhere.
  const data = deflateSync(rows, { level: 0 });
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
