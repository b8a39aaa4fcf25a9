const isCommand = /^\s*(?:[$#] |npx |leadsync |export )(?!.*[;,] )/;

/** Broken between words; what follows is indented further. Commands stay whole, to be copied, as do words that are longer. */
export function folded(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => (line.length <= width || isCommand.test(line) ? [line] : foldedLine(line, width)))
    .join('\n');
}

function foldedLine(line: string, width: number): string[] {
  const [, indent = '', first = ''] = /^(\s*)(.*)$/.exec(line) ?? [];
  const after = `${indent}    `;
  const lines: string[] = [];
  let current = indent;
  let isStart = true;
  for (const word of first.split(/(?<=\S)(?= +\S)/)) {
    if (!isStart && current.length + word.length > width) {
      lines.push(current);
      current = after + word.trimStart();
    } else current += word;
    isStart = false;
  }
  return [...lines, current];
}
