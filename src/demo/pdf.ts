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
