import { on } from '../parts/element.ts';
import type { Group } from './group.ts';
import { type Range, type View, nearestInView, secondsAt } from './view.ts';

/** Dragging over less is a click. In pixels. */
const MIN_DRAG = 3;

/** Reads the date under the pointer, zooms to the dates that it is dragged over, and shows all after a double click. */
export function followPointer(over: HTMLElement, { view, group }: { view: () => View | null; group: Group }): void {
  let pressedAt: number | null = null;
  let selected: Range | null = null;
  const end = () => {
    pressedAt = selected = null;
  };
  on(over, 'pointerdown', ({ button, offsetX, pointerId }) => {
    if (button !== 0) return;
    pressedAt = offsetX;
    over.setPointerCapture(pointerId);
  });
  on(over, 'pointermove', ({ offsetX, offsetY }) => {
    const shown = view();
    if (shown === null) return;
    const { left, top, width } = shown.area;
    const secondsOf = (x: number) => secondsAt(shown, left + Math.min(Math.max(x, 0), width));
    selected = null;
    if (pressedAt !== null && Math.abs(offsetX - pressedAt) >= MIN_DRAG)
      selected = { min: secondsOf(Math.min(pressedAt, offsetX)), max: secondsOf(Math.max(pressedAt, offsetX)) };
    group.point({ index: nearestInView(shown, secondsOf(offsetX)), top: top + offsetY, selected });
  });
  on(over, 'pointerup', () => {
    if (selected !== null) group.zoom(selected);
    end();
  });
  on(over, 'pointercancel', end);
  on(over, 'pointerleave', () => group.point({ index: null, top: null, selected }));
  on(over, 'dblclick', () => group.zoom(null));
}
