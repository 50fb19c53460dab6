// What the page of a room offers to the one who changes from room to room.
export interface RoomPage {
  readonly element: HTMLElement;
  /** Shows what an address says. */
  readonly show: (hash: string) => void;
  readonly close: () => void;
}
