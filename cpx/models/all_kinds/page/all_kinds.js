sortable(".grid");
document.documentElement.dataset.ready = "yes";
