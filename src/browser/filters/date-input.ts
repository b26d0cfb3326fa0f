import { on } from '../parts/element.ts';

/**
 * Calls back when a date has been chosen: at once from the calendar, but while it is typed only
 * when the reader leaves the field or presses Enter, because each digit makes another valid date.
 */
export function onCompleteDate(input: HTMLInputElement, chosen: () => void): void {
  let before = input.value;
  let isTyped = false;
  const finish = () => {
    if (input.value === before) return;
    before = input.value;
    chosen();
  };
  on(input, 'keydown', (event) => {
    isTyped = true;
    if (event.key !== 'Enter') return;
    event.preventDefault(); // the change replaces the form, which then cannot be submitted
    finish();
  });
  on(input, 'pointerdown', () => (isTyped = false));
  on(input, 'change', () => {
    if (!isTyped) finish();
  });
  on(input, 'blur', finish);
}
