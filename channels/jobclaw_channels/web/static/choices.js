// Buttons under replies: only those under the newest reply, with nothing said since, can be pressed.

export class Choices {
  constructor(log, onChoice) {
    this.log = log;
    this.onChoice = onChoice;
  }

  take(choice) {
    this.onChoice(choice);
  }

  settle() {
    const messages = [...this.log.querySelectorAll(".message")].reverse();
    let isOpen = true;
    let pressed = null;
    for (const message of messages) {
      if (message.classList.contains("mine")) {
        if (!message.classList.contains("failed")) isOpen = false;
        pressed = message.classList.contains("pressed") ? message.dataset.text : null;
        continue;
      }
      const choices = message.querySelectorAll(".choice");
      if (!choices.length) continue;
      for (const choice of choices) {
        choice.disabled = !isOpen;
        choice.classList.toggle("taken", !isOpen && choice.textContent === pressed);
      }
      isOpen = false;
      pressed = null;
    }
  }
}
